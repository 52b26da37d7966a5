//! Columns that line up, with a limit so that one long value does not push the rest off the screen.

/// The widest that a column is padded to; what is longer stands as it is.
const WIDEST: usize = 48;

/// Rows of five cells.
pub(super) struct Table {
    rows: Vec<[String; 5]>,
}

impl Table {
    pub(super) const fn new() -> Self {
        Self { rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: [&str; 5]) {
        self.rows.push(cells.map(str::to_owned));
    }

    /// The lines, each indented by two.
    pub(super) fn finish(self) -> String {
        let mut widths = [0; 5];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                let length = cell.chars().count();
                *width = (*width).max(if length > WIDEST { 1 } else { length });
            }
        }
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(widths).filter(|(_, width)| *width > 0);
            let line = cells.fold(String::new(), |mut line, (cell, width)| {
                line.push_str("  ");
                line.push_str(cell);
                line.push_str(&" ".repeat(width.saturating_sub(cell.chars().count())));
                line
            });
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}
