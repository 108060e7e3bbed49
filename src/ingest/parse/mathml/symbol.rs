//! Characters of formulas and their LaTeX.

/// Characters with a command of their own, in the order of their code points.
#[rustfmt::skip]
const COMMANDS: &[(char, &str)] = &[
    ('#', "\\#"), ('$', "\\$"), ('%', "\\%"), ('&', "\\&"), ('\\', "\\backslash"), ('_', "\\_"),
    ('{', "\\{"), ('}', "\\}"), ('£', "\\pounds"), ('§', "\\S"), ('¬', "\\neg"), ('±', "\\pm"),
    ('\u{B5}', "\\mu"), ('¶', "\\P"), ('·', "\\cdot"), ('×', "\\times"), ('ð', "\\eth"),
    ('÷', "\\div"), ('ı', "\\imath"), ('ȷ', "\\jmath"), ('Γ', "\\Gamma"), ('Δ', "\\Delta"),
    ('Θ', "\\Theta"), ('Λ', "\\Lambda"), ('Ξ', "\\Xi"), ('Π', "\\Pi"), ('Σ', "\\Sigma"),
    ('Υ', "\\Upsilon"), ('Φ', "\\Phi"), ('Ψ', "\\Psi"), ('Ω', "\\Omega"), ('α', "\\alpha"),
    ('β', "\\beta"), ('γ', "\\gamma"), ('δ', "\\delta"), ('ε', "\\varepsilon"), ('ζ', "\\zeta"),
    ('η', "\\eta"), ('θ', "\\theta"), ('ι', "\\iota"), ('κ', "\\kappa"), ('λ', "\\lambda"),
    ('μ', "\\mu"), ('ν', "\\nu"), ('ξ', "\\xi"), ('π', "\\pi"), ('ρ', "\\rho"),
    ('ς', "\\varsigma"), ('σ', "\\sigma"), ('τ', "\\tau"), ('υ', "\\upsilon"), ('φ', "\\varphi"),
    ('χ', "\\chi"), ('ψ', "\\psi"), ('ω', "\\omega"), ('ϑ', "\\vartheta"), ('ϒ', "\\Upsilon"),
    ('ϕ', "\\phi"), ('ϖ', "\\varpi"), ('ϝ', "\\digamma"), ('ϰ', "\\varkappa"), ('ϱ', "\\varrho"),
    ('ϵ', "\\epsilon"), ('‖', "\\|"), ('†', "\\dagger"), ('‡', "\\ddagger"), ('•', "\\bullet"),
    ('…', "\\ldots"), ('′', "\\prime"), ('‵', "\\backprime"), ('ℏ', "\\hbar"), ('ℑ', "\\Im"),
    ('ℓ', "\\ell"), ('℘', "\\wp"), ('ℜ', "\\Re"), ('℧', "\\mho"), ('Ⅎ', "\\Finv"),
    ('ℵ', "\\aleph"), ('ℶ', "\\beth"), ('ℷ', "\\gimel"), ('ℸ', "\\daleth"), ('⅁', "\\Game"),
    ('←', "\\leftarrow"), ('↑', "\\uparrow"), ('→', "\\rightarrow"), ('↓', "\\downarrow"),
    ('↔', "\\leftrightarrow"), ('↕', "\\updownarrow"), ('↖', "\\nwarrow"), ('↗', "\\nearrow"),
    ('↘', "\\searrow"), ('↙', "\\swarrow"), ('↚', "\\nleftarrow"), ('↛', "\\nrightarrow"),
    ('↞', "\\twoheadleftarrow"), ('↠', "\\twoheadrightarrow"), ('↢', "\\leftarrowtail"),
    ('↣', "\\rightarrowtail"), ('↦', "\\mapsto"), ('↩', "\\hookleftarrow"),
    ('↪', "\\hookrightarrow"), ('↮', "\\nleftrightarrow"), ('↺', "\\circlearrowleft"),
    ('↻', "\\circlearrowright"), ('↼', "\\leftharpoonup"), ('↽', "\\leftharpoondown"),
    ('⇀', "\\rightharpoonup"), ('⇁', "\\rightharpoondown"), ('⇄', "\\rightleftarrows"),
    ('⇆', "\\leftrightarrows"), ('⇇', "\\leftleftarrows"), ('⇉', "\\rightrightarrows"),
    ('⇋', "\\leftrightharpoons"), ('⇌', "\\rightleftharpoons"), ('⇍', "\\nLeftarrow"),
    ('⇎', "\\nLeftrightarrow"), ('⇏', "\\nRightarrow"), ('⇐', "\\Leftarrow"), ('⇑', "\\Uparrow"),
    ('⇒', "\\Rightarrow"), ('⇓', "\\Downarrow"), ('⇔', "\\Leftrightarrow"),
    ('⇕', "\\Updownarrow"), ('⇚', "\\Lleftarrow"), ('⇛', "\\Rrightarrow"),
    ('⇝', "\\rightsquigarrow"), ('∀', "\\forall"), ('∁', "\\complement"), ('∂', "\\partial"),
    ('∃', "\\exists"), ('∄', "\\nexists"), ('∅', "\\emptyset"), ('\u{2206}', "\\Delta"),
    ('∇', "\\nabla"), ('∈', "\\in"), ('∉', "\\notin"), ('∋', "\\ni"), ('∎', "\\blacksquare"),
    ('∏', "\\prod"), ('∐', "\\coprod"), ('∑', "\\sum"), ('∓', "\\mp"), ('∔', "\\dotplus"),
    ('∖', "\\setminus"), ('∗', "\\ast"), ('∘', "\\circ"), ('∙', "\\bullet"), ('√', "\\surd"),
    ('∝', "\\propto"), ('∞', "\\infty"), ('∠', "\\angle"), ('∡', "\\measuredangle"),
    ('∢', "\\sphericalangle"), ('∣', "\\mid"), ('∤', "\\nmid"), ('∥', "\\parallel"),
    ('∦', "\\nparallel"), ('∧', "\\wedge"), ('∨', "\\vee"), ('∩', "\\cap"), ('∪', "\\cup"),
    ('∫', "\\int"), ('∬', "\\iint"), ('∭', "\\iiint"), ('∮', "\\oint"), ('∴', "\\therefore"),
    ('∵', "\\because"), ('∸', "\\dotminus"), ('∼', "\\sim"), ('∽', "\\backsim"), ('≀', "\\wr"),
    ('≁', "\\nsim"), ('≃', "\\simeq"), ('≅', "\\cong"), ('≇', "\\ncong"), ('≈', "\\approx"),
    ('≊', "\\approxeq"), ('≍', "\\asymp"), ('≎', "\\Bumpeq"), ('≏', "\\bumpeq"), ('≐', "\\doteq"),
    ('≔', "\\coloneqq"), ('≕', "\\eqqcolon"), ('≗', "\\circeq"), ('≜', "\\triangleq"),
    ('≠', "\\neq"), ('≡', "\\equiv"), ('≤', "\\leq"), ('≥', "\\geq"), ('≪', "\\ll"),
    ('≫', "\\gg"), ('≮', "\\nless"), ('≯', "\\ngtr"), ('≰', "\\nleq"), ('≱', "\\ngeq"),
    ('≲', "\\lesssim"), ('≳', "\\gtrsim"), ('≶', "\\lessgtr"), ('≷', "\\gtrless"),
    ('≺', "\\prec"), ('≻', "\\succ"), ('≼', "\\preccurlyeq"), ('≽', "\\succcurlyeq"),
    ('⊂', "\\subset"), ('⊃', "\\supset"), ('⊆', "\\subseteq"), ('⊇', "\\supseteq"),
    ('⊈', "\\nsubseteq"), ('⊉', "\\nsupseteq"), ('⊊', "\\subsetneq"), ('⊋', "\\supsetneq"),
    ('⊎', "\\uplus"), ('⊏', "\\sqsubset"), ('⊐', "\\sqsupset"), ('⊑', "\\sqsubseteq"),
    ('⊒', "\\sqsupseteq"), ('⊓', "\\sqcap"), ('⊔', "\\sqcup"), ('⊕', "\\oplus"),
    ('⊖', "\\ominus"), ('⊗', "\\otimes"), ('⊘', "\\oslash"), ('⊙', "\\odot"), ('⊞', "\\boxplus"),
    ('⊠', "\\boxtimes"), ('⊡', "\\boxdot"), ('⊢', "\\vdash"), ('⊣', "\\dashv"), ('⊤', "\\top"),
    ('⊥', "\\perp"), ('⊨', "\\models"), ('⊩', "\\Vdash"), ('⊪', "\\Vvdash"), ('⊬', "\\nvdash"),
    ('⊭', "\\nvDash"), ('⊲', "\\vartriangleleft"), ('⊳', "\\vartriangleright"),
    ('⊴', "\\trianglelefteq"), ('⊵', "\\trianglerighteq"), ('⊻', "\\veebar"), ('⋀', "\\bigwedge"),
    ('⋁', "\\bigvee"), ('⋂', "\\bigcap"), ('⋃', "\\bigcup"), ('⋄', "\\diamond"), ('⋅', "\\cdot"),
    ('⋆', "\\star"), ('⋈', "\\bowtie"), ('⋉', "\\ltimes"), ('⋊', "\\rtimes"),
    ('⋔', "\\pitchfork"), ('⋘', "\\lll"), ('⋙', "\\ggg"), ('⋮', "\\vdots"), ('⋯', "\\cdots"),
    ('⋱', "\\ddots"), ('⌀', "\\varnothing"), ('⌈', "\\lceil"), ('⌉', "\\rceil"),
    ('⌊', "\\lfloor"), ('⌋', "\\rfloor"), ('⌜', "\\ulcorner"), ('⌝', "\\urcorner"),
    ('⌞', "\\llcorner"), ('⌟', "\\lrcorner"), ('⌢', "\\frown"), ('⌣', "\\smile"),
    ('■', "\\blacksquare"), ('□', "\\square"), ('△', "\\triangle"), ('▷', "\\triangleright"),
    ('▽', "\\bigtriangledown"), ('◁', "\\triangleleft"), ('◊', "\\lozenge"), ('★', "\\bigstar"),
    ('♠', "\\spadesuit"), ('♡', "\\heartsuit"), ('♢', "\\diamondsuit"), ('♣', "\\clubsuit"),
    ('♭', "\\flat"), ('♮', "\\natural"), ('♯', "\\sharp"), ('✓', "\\checkmark"),
    ('⟦', "\\llbracket"), ('⟧', "\\rrbracket"), ('⟨', "\\langle"), ('⟩', "\\rangle"),
    ('⟵', "\\longleftarrow"), ('⟶', "\\longrightarrow"), ('⟷', "\\longleftrightarrow"),
    ('⟸', "\\Longleftarrow"), ('⟹', "\\Longrightarrow"), ('⟺', "\\Longleftrightarrow"),
    ('⟼', "\\longmapsto"), ('⧫', "\\blacklozenge"), ('⨀', "\\bigodot"), ('⨁', "\\bigoplus"),
    ('⨂', "\\bigotimes"), ('⨄', "\\biguplus"), ('⨆', "\\bigsqcup"), ('⨿', "\\amalg"),
    ('⩽', "\\leqslant"), ('⩾', "\\geqslant"), ('⪯', "\\preceq"), ('⪰', "\\succeq"),
    ('〈', "\\langle"), ('〉', "\\rangle"),
];

/// Names that LaTeX knows as functions.
#[rustfmt::skip]
const FUNCTIONS: [&str; 38] = [
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim",
    "exp", "gcd", "hom", "inf", "injlim", "ker", "lg", "lim", "liminf", "limsup", "ln", "log",
    "max", "min", "mod", "Pr", "projlim", "sec", "sin", "sinh", "sup", "tan", "tanh", "varinjlim",
    "varliminf", "varlimsup",
];

/// Commands whose scripts are below and above them.
#[rustfmt::skip]
const LIMITS: [&str; 28] = [
    "\\sum", "\\prod", "\\coprod", "\\int", "\\iint", "\\iiint", "\\oint", "\\bigcup", "\\bigcap",
    "\\bigvee", "\\bigwedge", "\\bigoplus", "\\bigotimes", "\\bigodot", "\\biguplus", "\\bigsqcup",
    "\\lim", "\\inf", "\\sup", "\\min", "\\max", "\\limsup", "\\liminf", "\\det", "\\gcd", "\\Pr",
    "\\injlim", "\\projlim",
];

/// Returns the command for a character.
pub(super) fn command(c: char) -> Option<&'static str> {
    let at = COMMANDS.binary_search_by_key(&c, |&(it, _)| it).ok()?;
    Some(COMMANDS[at].1)
}

/// Returns the command for a function's name.
pub(super) fn function(name: &str) -> Option<&'static str> {
    #[rustfmt::skip]
    const COMMANDS: [&str; 38] = [
        "\\arccos", "\\arcsin", "\\arctan", "\\arg", "\\cos", "\\cosh", "\\cot", "\\coth", "\\csc",
        "\\deg", "\\det", "\\dim", "\\exp", "\\gcd", "\\hom", "\\inf", "\\injlim", "\\ker", "\\lg",
        "\\lim", "\\liminf", "\\limsup", "\\ln", "\\log", "\\max", "\\min", "\\bmod", "\\Pr",
        "\\projlim", "\\sec", "\\sin", "\\sinh", "\\sup", "\\tan", "\\tanh", "\\varinjlim",
        "\\varliminf", "\\varlimsup",
    ];
    match name {
        "lim inf" => Some("\\liminf"),
        "lim sup" => Some("\\limsup"),
        _ => FUNCTIONS.iter().position(|&it| it == name).map(|at| COMMANDS[at]),
    }
}

/// Returns whether scripts of this command are below and above it.
pub(super) fn has_limits(tex: &str) -> bool {
    LIMITS.contains(&tex)
}

/// Converts a character of a name or a number; `None` if formulas cannot have it.
pub(super) fn identifier(c: char) -> Option<String> {
    if let Some(command) = command(c) {
        return Some(command.to_owned());
    }
    if let Some(styled) = styled(c) {
        return Some(styled);
    }
    match c {
        '^' => Some("\\text{\\textasciicircum}".to_owned()),
        '~' => Some("\\text{\\textasciitilde}".to_owned()),
        '°' => Some("^{\\circ}".to_owned()),
        '‴' => Some("\\prime\\prime\\prime".to_owned()),
        '″' => Some("\\prime\\prime".to_owned()),
        '−' => Some("-".to_owned()),
        c if c.is_control() => None,
        c => Some(c.to_string()),
    }
}

/// Converts a character of an operator; empty for an invisible one.
pub(super) fn operator(c: char) -> Option<String> {
    match c {
        '\u{2061}'..='\u{2064}' | '\u{200B}'..='\u{200D}' | '\u{FEFF}' => Some(String::new()),
        '∕' => Some("/".to_owned()),
        '＝' => Some("=".to_owned()),
        '∶' => Some(":".to_owned()),
        c => identifier(c),
    }
}

/// Escapes text for the inside of `\text{…}`.
pub(super) fn in_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '{' | '}' | '$' | '&' | '%' | '#' | '_' => {
                out.push('\\');
                out.push(c);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            c => out.push(c),
        }
    }
    out
}

/// Converts letters and digits whose style is in their code point: `ℝ`, `𝐀`, `𝔤`.
fn styled(c: char) -> Option<String> {
    #[rustfmt::skip]
    const LETTERS: [&str; 13] = [
        "\\mathbf", "", "\\boldsymbol", "\\mathcal", "\\boldsymbol\\mathcal", "\\mathfrak",
        "\\mathbb", "\\boldsymbol\\mathfrak", "\\mathsf", "\\boldsymbol\\mathsf", "\\mathsf",
        "\\boldsymbol\\mathsf", "\\mathtt",
    ];
    const DIGITS: [&str; 5] =
        ["\\mathbf", "\\mathbb", "\\mathsf", "\\boldsymbol\\mathsf", "\\mathtt"];
    let (command, letter) = match c {
        'ℂ' => ("\\mathbb", 'C'),
        'ℍ' => ("\\mathbb", 'H'),
        'ℕ' => ("\\mathbb", 'N'),
        'ℙ' => ("\\mathbb", 'P'),
        'ℚ' => ("\\mathbb", 'Q'),
        'ℝ' => ("\\mathbb", 'R'),
        'ℤ' => ("\\mathbb", 'Z'),
        'ℬ' => ("\\mathcal", 'B'),
        'ℰ' => ("\\mathcal", 'E'),
        'ℱ' => ("\\mathcal", 'F'),
        'ℋ' => ("\\mathcal", 'H'),
        'ℐ' => ("\\mathcal", 'I'),
        'ℒ' => ("\\mathcal", 'L'),
        'ℳ' => ("\\mathcal", 'M'),
        'ℛ' => ("\\mathcal", 'R'),
        'ℭ' => ("\\mathfrak", 'C'),
        'ℌ' => ("\\mathfrak", 'H'),
        'ℨ' => ("\\mathfrak", 'Z'),
        'ℎ' => ("", 'h'),
        '\u{1D400}'..='\u{1D6A3}' => {
            let at = c as usize - 0x1D400;
            let within = u8::try_from(at % 52).ok()?;
            let letter = if within < 26 { b'A' + within } else { b'a' + within - 26 };
            (LETTERS[at / 52], char::from(letter))
        }
        '\u{1D7CE}'..='\u{1D7FF}' => {
            let at = c as usize - 0x1D7CE;
            (DIGITS[at / 10], char::from(b'0' + u8::try_from(at % 10).ok()?))
        }
        _ => return None,
    };
    Some(match command.rsplit_once('\\') {
        None => letter.to_string(),
        Some(("", _)) => format!("{command}{{{letter}}}"),
        Some((outer, inner)) => format!("{outer}{{\\{inner}{{{letter}}}}}"),
    })
}
