/** Takes a person's words out of a screen and keeps its structure: what stands where, and the agent's own words. */
import type { AgentProfile, Screen } from "../../agents/profile.ts";

/** Words that agents use for keys and choices. */
const FRAME_WORDS = `
  agents allow always answer any approval approve ask awaiting back build cancel change chat choose clear close commands confirm continue
  ctrl delete deny don't edit enter esc exit fullscreen for go help home hooks idle in insert interrupt keep manual menu message
  mode model models more navigate no normal on once open or page permission plan press proceed quit reject return
  resume review save search select send sessions settings shell shift shortcuts skip space start status stop submit switch
  tab then to toggle transcript trust type up use visual working yes you your
`.trim().split(/\s+/);

/** Two columns wide, as tmux counts. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** Letters become `x` or `X`, digits `0`, of the same width; the words in `keep` stay. */
export function redactText(text: string, keep: ReadonlySet<string>): string {
  return text.replace(
    /[\p{L}\p{M}\p{N}]+(?:'[\p{L}]+)?/gu,
    (word) => keep.has(word.toLowerCase()) ? word : redactWord(word),
  );
}

function redactWord(word: string): string {
  return Array.from(word, (character) => {
    if (WIDE.test(character)) return "ｘ";
    if (/\p{M}/u.test(character)) return "";
    if (character === "'") return character;
    if (/\p{N}/u.test(character)) return "0";
    return /\p{Lu}/u.test(character) ? "X" : "x";
  }).join("");
}

/** The words of the agent's frame: those of its dialogs' marks, and those that all agents use. */
export function frameWords({ dialog, label }: Pick<AgentProfile, "dialog" | "label">): ReadonlySet<string> {
  const marks = [...dialog.lines, ...dialog.titles].flatMap((mark) => mark.match(/[A-Za-z]{2,}/g) ?? []);
  return new Set([...FRAME_WORDS, label, ...marks].map((word) => word.toLowerCase()));
}

export function redactScreen(screen: Screen, keep: ReadonlySet<string>): Screen {
  const lines = screen.lines.map((line) => redactText(line, keep));
  return { ...screen, lines, title: redactText(screen.title, keep) };
}
