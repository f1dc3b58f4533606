/** The size taken for an output that is no terminal. */

export const defaultSize: Readonly<{ columns: number; rows: number }> = { columns: 80, rows: 24 };
