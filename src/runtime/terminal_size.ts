/** The size taken for an output that is no terminal. */

export const DEFAULT_SIZE: Readonly<{ columns: number; rows: number }> = { columns: 80, rows: 24 };
