/** Notifications for phones that an agent stops or waits. Loaded only then: most hooks only report a tool call. */
import type { HookNotification } from "../agents/hooks.ts";
import type { HookNews } from "../home/control_socket.ts";
import { FORBIDDEN_CONTROLS } from "../protocol/canonical.ts";
import { BODY_MAX_BYTES, TITLE_MAX_CHARS } from "../protocol/limits.ts";
import { AGENT_LABELS, projectName, sessionLabel, sessionTitle } from "../protocol/names.ts";
import type { HookCall } from "./follow_remote.ts";
import { encodeUtf8, utf8Length } from "../async/encodings.ts";

/** The title names the directory; the listener replaces it if it knows the session. */
export function toNews(
  { kind, hooks, input }: HookCall,
  { type, text }: HookNotification,
  directory: string,
): HookNews {
  const label = sessionLabel(projectName(directory), AGENT_LABELS[kind], 1);
  const news = { type, title: sessionTitle(label, type).slice(0, TITLE_MAX_CHARS) };
  if (text === undefined) return { ...news, transcript: hooks.transcript?.pathOf(input) };
  return { ...news, body: toBodyText(text) };
}

const CUT = "…";

/** The body of a push; undefined if nothing is left. A text that is too long keeps its end, because the question is there. */
export function toBodyText(text: string): string | undefined {
  const lines = text.replace(/\r\n?/g, "\n").replace(new RegExp(FORBIDDEN_CONTROLS, "g"), "");
  const whole = lines.toWellFormed().trim();
  return whole === "" ? undefined : lastBytes(whole, BODY_MAX_BYTES);
}

function lastBytes(text: string, limit: number): string {
  const bytes = encodeUtf8(text);
  if (bytes.length <= limit) return text;
  const from = bytes.length - limit + utf8Length(CUT);
  const start = bytes.findIndex((byte, at) => at >= from && isFirstByte(byte));
  return CUT + new TextDecoder().decode(bytes.subarray(start));
}

/** Continuation bytes begin with the bits 10 (RFC 3629). */
function isFirstByte(byte: number): boolean {
  return (byte & 0xc0) !== 0x80;
}
