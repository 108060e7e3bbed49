//! Measures compiles: of everything, of nothing new, and of one changed file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::floor::{self, Rows};
use crate::process::{Took, compile, own_cpu_ms, wall_ms};
use crate::table::{Bound, Figure, NONE};
use crate::{Outcome, doing, mean, median};

const RUNS: usize = 7;

/// Compiles `notes` into `db`, then again unchanged, and again after one file changed. After the
/// first compile it measures `n_first` more beside their floor.
pub(crate) fn figures(notes: &Path, db: &Path, n_first: usize) -> Outcome<Vec<Figure>> {
    let mut figures = first(notes, db, n_first)?;
    doing("compile what did not change, and one file that did");
    let (mut tooks, mut floors, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        tooks.push(compile(notes, db)?);
        floors.push(wall_ms(|| floor::walk(notes))?);
        bare.push(wall_ms(|| floor::process(db))?);
    }
    let (walk, bare) = (median(floors), median(bare));
    let unchanged = median(walls(&tooks));
    figures.push(
        Figure::new("nothing changed / walk of the folder", "ms", unchanged)
            .beside(walk)
            .at_least(walk + bare)
            .within(Bound { ratio: Some(2.0), most: Some(60.0), ..NONE }),
    );
    figures.push(
        Figure::new("nothing changed / walk and bare process", "ms", unchanged).beside(walk + bare),
    );
    figures.push(Figure::new("nothing changed, CPU", "ms", mean(&cpus(&tooks))));
    let changed = one_changed(notes, db)?;
    figures.push(
        Figure::new("one file changed / nothing changed", "ms", median(walls(&changed)))
            .beside(unchanged)
            .within(Bound { more: Some(20.0), most: Some(100.0), ..NONE }),
    );
    figures.push(Figure::new("one file changed, CPU", "ms", mean(&cpus(&changed))));
    Ok(figures)
}

fn first(notes: &Path, db: &Path, n_first: usize) -> Outcome<Vec<Figure>> {
    const OF_CPU: Bound = Bound { ratio: Some(2.0), most: Some(3000.0), ..NONE };
    doing("compile all of them");
    let mut tooks = vec![compile(notes, db)?];
    let named = "first compile, CPU / same rows inserted";
    let mut cpu_ms = Figure::new(named, "ms", tooks[0].cpu_ms);
    let mut peak_mb = tooks[0].peak_mb;
    if 0 < n_first {
        let rows = Rows::read(db)?;
        let mut floors = Vec::new();
        for nth in 1..=n_first {
            doing(&format!("compile all of them again, {nth} of {n_first}"));
            remove(db);
            tooks.push(compile(notes, db)?);
            let copy = db.with_extension("copy");
            floors.push(own_cpu_ms(|| rows.write(&copy))?);
            remove(&copy);
        }
        peak_mb = tooks.iter().map(|it| it.peak_mb).fold(0.0, f64::max);
        cpu_ms =
            Figure::new(named, "ms", median(cpus(&tooks))).above(median(floors)).within(OF_CPU);
    }
    Ok(vec![
        cpu_ms,
        Figure::new("first compile, wall", "ms", median(walls(&tooks))),
        Figure::new("first compile, peak memory", "MB", peak_mb)
            .within(Bound { most_ever: Some(64.0), ..NONE }),
    ])
}

fn one_changed(notes: &Path, db: &Path) -> Outcome<Vec<Took>> {
    let mut tooks = Vec::new();
    for nth in 0..RUNS {
        let note = notes.join(format!("folder0/note{nth}.md"));
        let text = fs::read_to_string(&note)?;
        fs::write(&note, format!("{text}\n\nOne more paragraph, number {nth}.\n"))?;
        tooks.push(compile(notes, db)?);
    }
    Ok(tooks)
}

fn walls(tooks: &[Took]) -> Vec<f64> {
    tooks.iter().map(|it| it.wall_ms).collect()
}

fn cpus(tooks: &[Took]) -> Vec<f64> {
    tooks.iter().map(|it| it.cpu_ms).collect()
}

fn remove(db: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(PathBuf::from(format!("{}{ending}", db.display())));
    }
}
