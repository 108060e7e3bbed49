use crate::ingest::parse::{Syntax, parse};
use crate::model::tree::ContentFormat;

/// Checks the LaTeX of a formula; `None` if its markup has to stay.
#[track_caller]
fn check(markup: &str, latex: Option<&str>) {
    let parsed = parse(Syntax::Html, &format!("<math display=\"block\">{markup}</math>"));
    let [node] = &parsed.tree.nodes[..] else { panic!("{}", parsed.tree) };
    let found = (node.format == ContentFormat::Latex).then_some(node.content.as_str());
    assert_eq!(found, latex, "{}", node.content);
}

fn check_all(cases: &[(&str, &str)]) {
    for (markup, latex) in cases {
        check(markup, Some(latex));
    }
}

#[test]
fn structures_have_their_commands() {
    check_all(&[
        ("<mi>x</mi><mo>=</mo><mn>1</mn>", "x = 1"),
        ("<mfrac><mi>a</mi><mi>b</mi></mfrac>", r"\frac{a}{b}"),
        ("<mfrac bevelled=true><mi>a</mi><mi>b</mi></mfrac>", "{a} / {b}"),
        ("<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt>", r"\sqrt{a + b}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[{3}]{x}"),
        ("<msub><mi>x</mi><mi>i</mi></msub>", "x_{i}"),
        ("<msup><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></msup>", "{x + 1}^{2}"),
        ("<msup><msup><mi>x</mi><mn>2</mn></msup><mn>3</mn></msup>", "{x^{2}}^{3}"),
        ("<msub><mn>10</mn><mi>i</mi></msub>", "{10}_{i}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_{i}^{2}"),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi>\
             </munderover><msup><mi>i</mi><mn>2</mn></msup>",
            r"\sum_{i = 1}^{n} i^{2}",
        ),
        ("<munder><mi>lim</mi><mi>n</mi></munder>", r"\lim_{n}"),
        ("<munder><mi>f</mi><mi>n</mi></munder>", r"\underset{n}{f}"),
        ("<mover><mi>f</mi><mi>n</mi></mover>", r"\overset{n}{f}"),
        ("<mphantom><mi>x</mi></mphantom><mi>y</mi>", r"\phantom{x} y"),
        ("<mi>a</mi><mspace width=1em></mspace><mi>b</mi>", r"a \quad b"),
        ("<mi>a</mi><mspace></mspace><mi>b</mi>", r"a \, b"),
    ]);
}

#[test]
fn fences_make_binomials_matrices_and_cases() {
    let table = "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr>\
                 <mtr><mtd><mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable>";
    let stack = "<mfrac linethickness=0><mi>n</mi><mi>k</mi></mfrac>";
    check_all(&[
        (table, r"\begin{matrix} a & b \\ c & d \end{matrix}"),
        (&format!("<mo>(</mo>{table}<mo>)</mo>"), r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"),
        (&format!("<mo>{{</mo>{table}"), r"\begin{cases} a & b \\ c & d \end{cases}"),
        (&format!("<mo>(</mo>{stack}<mo>)</mo>"), r"\binom{n}{k}"),
        (&format!("<mfenced>{stack}</mfenced>"), r"\binom{n}{k}"),
        (stack, r"\genfrac{}{}{0pt}{}{n}{k}"),
        (&format!("<msqrt>{stack}</msqrt>"), r"\sqrt{\genfrac{}{}{0pt}{}{n}{k}}"),
        ("<mfenced><mi>x</mi><mi>y</mi></mfenced>", r"\left( x, y \right)"),
        ("<mfenced open='{' close=''><mi>x</mi></mfenced>", r"\left\{ x \right."),
        (
            "<mfenced open='⟨' close='⟩' separators='|'><mi>x</mi><mi>y</mi></mfenced>",
            r"\left\langle x| y \right\rangle",
        ),
    ]);
}

#[test]
fn symbols_have_their_commands() {
    check_all(&[
        ("<mi>α</mi><mo>≤</mo><mi>Ω</mi>", r"\alpha \leq \Omega"),
        ("<mi>x</mi><mo>∈</mo><mi>ℝ</mi>", r"x \in \mathbb{R}"),
        ("<mi>f</mi><mo>:</mo><mi>A</mi><mo>→</mo><mi>B</mi>", r"f : A \rightarrow B"),
        ("<mo>∀</mo><mi>x</mi><mo>⇒</mo><mo>¬</mo><mi>y</mi>", r"\forall x \Rightarrow \neg y"),
        ("<mi>a</mi><mo>−</mo><mi>b</mi><mo>±</mo><mi>c</mi>", r"a - b \pm c"),
        ("<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>", r"\sin x"),
        ("<mn>2</mn><mo>&#x2062;</mo><mi>x</mi>", "2 x"),
        ("<mi>𝐀</mi><mi>𝔤</mi><mi>𝟙</mi>", r"\mathbf{A} \mathfrak{g} \mathbb{1}"),
        ("<mo>mod</mo>", r"\bmod"),
        ("<mi>foo_bar</mi>", r"\mathrm{foo\_bar}"),
        ("<mo>∑x</mo>", r"\sum x"),
    ]);
}

#[test]
fn special_characters_are_escaped() {
    check_all(&[
        ("<mo>{</mo><mi>x</mi><mo>}</mo>", r"\{ x \}"),
        ("<mn>5%</mn>", r"5\%"),
        ("<mi>a</mi><mo>&amp;</mo><mi>b</mi>", r"a \& b"),
        ("<mo>^</mo><mi>b</mi>", r"\text{\textasciicircum} b"),
        ("<mtext>a_b {c}</mtext>", r"\text{a\_b \{c\}}"),
        ("<mtext>a~&amp;#</mtext>", r"\text{a\textasciitilde{}\&\#}"),
        ("<ms>a b</ms>", "\\text{\"a b\"}"),
    ]);
}

#[test]
fn accents_and_variants_are_kept() {
    check_all(&[
        ("<mover accent=true><mi>x</mi><mo>^</mo></mover>", r"\hat{x}"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", r"\bar{x}"),
        ("<mover><mrow><mi>A</mi><mi>B</mi></mrow><mo>¯</mo></mover>", r"\overline{A B}"),
        ("<mover><mi>v</mi><mo>→</mo></mover>", r"\vec{v}"),
        ("<mover><mi>x</mi><mo>˙</mo></mover>", r"\dot{x}"),
        (
            "<mover><mover><mrow><mi>a</mi><mi>b</mi></mrow><mo>⏞</mo></mover><mi>n</mi></mover>",
            r"\overbrace{a b}^{n}",
        ),
        ("<mover><mo>→</mo><mi>f</mi></mover>", r"\xrightarrow{f}"),
        ("<mi mathvariant=bold>x</mi>", r"\mathbf{x}"),
        ("<mi mathvariant=bold>α</mi>", r"\boldsymbol{\alpha}"),
        ("<mi mathvariant=double-struck>R</mi>", r"\mathbb{R}"),
        ("<mi mathvariant=normal>d</mi><mi>x</mi>", r"\mathrm{d} x"),
        ("<mstyle mathvariant=fraktur><mi>g</mi></mstyle>", r"\mathfrak{g}"),
    ]);
}

#[test]
fn scripts_before_the_base_and_boxes_are_kept() {
    check_all(&[
        (
            "<mmultiscripts><mi>C</mi><mn>1</mn><none></none><mprescripts></mprescripts><mn>6</mn>\
          <mn>14</mn></mmultiscripts>",
            "{}_{6}^{14} C_{1}",
        ),
        ("<menclose notation=box><mi>x</mi></menclose>", r"\boxed{x}"),
        ("<menclose notation=updiagonalstrike><mi>x</mi></menclose>", r"\cancel{x}"),
        ("<menclose notation=top><mi>x</mi></menclose>", r"\overline{x}"),
        ("<maction selection=2><mi>a</mi><mi>b</mi></maction>", "b"),
    ]);
}

#[test]
fn formulas_beyond_latex_stay_markup() {
    for markup in [
        "<merror><mtext>x</mtext></merror>",
        "<menclose notation=circle><mi>x</mi></menclose>",
        "<mfrac><mi>a</mi></mfrac>",
        "<mlongdiv><mn>1</mn></mlongdiv>",
        "<mi>x</mi><unknown>y</unknown>",
        "<mtable><mlabeledtr><mtd>1</mtd><mtd>x</mtd></mlabeledtr></mtable>",
        "<mi mathvariant=tailed>x</mi>",
    ] {
        check(markup, None);
    }
}

#[test]
fn the_authors_own_tex_wins() {
    let annotated = |encoding: &str, tex: &str| {
        format!(
            "<semantics><mrow><merror>x</merror></mrow><annotation encoding=\"{encoding}\">{tex}\
             </annotation></semantics>"
        )
    };
    check(&annotated("application/x-tex", r"\alpha &lt; \beta"), Some(r"\alpha < \beta"));
    check(&annotated("TeX", "$x_1$"), Some("x_1"));
    check(&annotated("text/plain", "no"), None);
    check(&annotated("application/x-tex", " "), None);
    check(
        "<semantics><mi>x</mi><annotation-xml><ci>x</ci></annotation-xml></semantics>",
        Some("x"),
    );
    let inner = format!("<mi>y</mi><mo>=</mo>{}", annotated("latex", r"\foo{1}"));
    check(&inner, Some(r"y = \foo{1}"));
}

#[test]
fn latex_that_saves_little_is_not_taken() {
    check(&format!("<mtext>{}</mtext>", "word ".repeat(200)), None);
}

mod random {
    use proptest::prelude::*;

    #[rustfmt::skip]
    const PIECES: [&str; 40] = [
        "<mrow>", "</mrow>", "<mi>x</mi>", "<mo>(</mo>", "<mo>)</mo>", "<mo>{</mo>", "<mo>∑</mo>",
        "<mn>1</mn>", "<mfrac>", "</mfrac>", "<mfrac linethickness=0>", "<msup>", "</msup>",
        "<msub>", "</msub>", "<mover>", "</mover>", "<munderover>", "</munderover>", "<mo>→</mo>",
        "<mo>^</mo>", "<mtable>", "</mtable>", "<mtr>", "</mtr>", "<mtd>", "</mtd>",
        "<mfenced open='{'>", "</mfenced>", "<mtext>a {b} \\</mtext>", "<mmultiscripts>",
        "</mmultiscripts>", "<mprescripts/>", "<none/>", "<menclose notation=box>", "</menclose>",
        "<mi>}</mi>", "<mo>\\</mo>", "<mroot>", "</mroot>",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn latex_is_well_formed(pieces in prop::collection::vec(0..PIECES.len(), 0..24)) {
            let text: String = pieces.into_iter().map(|at| PIECES[at]).collect();
            crate::fuzzing::mathml::mathml(text.as_bytes());
        }
    }
}
