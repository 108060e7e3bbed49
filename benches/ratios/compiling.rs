//! What it takes to compile: everything, nothing, and one file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::floor::{self, Rows};
use crate::process::{Took, compile, own_cpu_ms, wall_ms};
use crate::table::{Bound, Figure, NONE, Size};
use crate::{Outcome, mean, median};

/// First compiles, beside as many of their floor.
const FIRST_RUNS: usize = 3;
const RUNS: usize = 7;

/// Compiles `notes` into `db`, and again, and again when one file changed.
pub(crate) fn figures(notes: &Path, db: &Path, size: Size) -> Outcome<Vec<Figure>> {
    let mut figures = first(notes, db, size)?;
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

/// Of the first compile. There is a floor where there is time for one.
fn first(notes: &Path, db: &Path, size: Size) -> Outcome<Vec<Figure>> {
    const OF_CPU: Bound = Bound { ratio: Some(2.0), most: Some(3000.0), ..NONE };
    let mut tooks = vec![compile(notes, db)?];
    let named = "first compile, CPU / same rows inserted";
    let mut cpu_ms = Figure::new(named, "ms", tooks[0].cpu_ms);
    let mut peak_mb = tooks[0].peak_mb;
    if size == Size::Whole {
        let rows = Rows::read(db)?;
        let mut floors = Vec::new();
        for _ in 0..FIRST_RUNS {
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
