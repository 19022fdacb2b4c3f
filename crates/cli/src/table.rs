//! Plain text tables and numbers for people.

/// Rows of text in columns as wide as their widest cell; the first column to the left, the others to the right.
pub fn columns(rows: &[Vec<String>], indent: &str) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[c] - cell.chars().count());
            let (cell, gap) =
                if c == 0 { (format!("{cell}{pad}"), "") } else { (format!("{pad}{cell}"), "   ") };
            line.push_str(gap);
            line.push_str(&cell);
        }
        text.push_str(indent);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// `1234567` as `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

/// The first few items, and how many more there are.
pub fn list(items: &[impl AsRef<str>], most: usize) -> String {
    let shown: Vec<&str> = items.iter().take(most).map(AsRef::as_ref).collect();
    let more = if items.len() > most { format!(", ... {} more", items.len() - most) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
