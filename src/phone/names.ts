/** How the page names a session: names are unique on one host only. */

export interface SessionName {
  deviceId: string;
  session: string;
}

/** The key under which the draft of an answer is kept. */
export function answerDraftKey(questionId: string): string {
  return `ask/${questionId}`;
}

/** The key under which a session's draft is kept. */
export function draftKey({ deviceId, session }: SessionName): string {
  return `${deviceId}/${session}`;
}
