/** The oldest tmux that will do. */

/** 3.2 is the first with `new-session -e`. */
export const TMUX_OLDEST = { major: 3, minor: 2 } as const;

/** Judges what `tmux -V` prints; a version that has no number (`tmux master`) is taken for new enough. */
export function isTmuxTooOld(printed: string): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(printed) ?? [];
  if (major === undefined || /openbsd/.test(printed)) return false;
  const difference = Number(major) - TMUX_OLDEST.major || Number(minor) - TMUX_OLDEST.minor;
  return difference < 0;
}
