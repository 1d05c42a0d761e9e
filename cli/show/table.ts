// Tables of text in kubectl's format: columns as wide as their widest cell, with three spaces between them.

/** Lines, the header first. No line ends in spaces. */
export function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => all.reduce((widest, row) => Math.max(widest, (row[column] ?? '').length), 0));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}
