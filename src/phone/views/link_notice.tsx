/** Says that the link is down, why, and what can be done; floats, so that nothing jumps when it comes and goes. */
import type { JSX } from "preact";
import { isLasting } from "../../client/link_problem.ts";
import type { LinkView } from "../state.ts";
import { STRINGS } from "../strings.ts";

const { link: WORDS } = STRINGS;

interface Props {
  link: LinkView;
  onTryNow(): void;
  onSignOut(): void;
}

export function LinkNotice({ link, onTryNow, onSignOut }: Props): JSX.Element {
  return (
    <div class="notice-place" role="status">
      {link.kind === "down" && <Notice link={link} onTryNow={onTryNow} onSignOut={onSignOut} />}
    </div>
  );
}

function Notice({ link, onTryNow, onSignOut }: Props): JSX.Element {
  const problem = link.kind === "down" ? link.problem : undefined;
  return (
    <div class="notice">
      {isStopped(link) || <span class="spinner" aria-hidden="true" />}
      <p>
        <strong>{linkWord(link)}</strong>
        {problem && <span class="notice-why">{problem.message}</span>}
      </p>
      {isStopped(link)
        ? <button type="button" class="quiet" onClick={onSignOut}>{WORDS.signInAgain}</button>
        : <button type="button" class="quiet" onClick={onTryNow}>{WORDS.tryNow}</button>}
    </div>
  );
}

/** The small sign in the picker's head. */
export function LinkSign({ link }: { link: LinkView }): JSX.Element {
  return <span class="link-sign" data-link={link.kind}>{linkWord(link)}</span>;
}

function linkWord(link: LinkView): string {
  switch (link.kind) {
    case "live":
      return WORDS.live;
    case "connecting":
      return WORDS.connecting;
    case "down":
      return isStopped(link) ? WORDS.stopped : WORDS.down;
  }
}

/** Only another key helps. */
function isStopped(link: LinkView): boolean {
  return link.kind === "down" && isLasting(link.problem) && link.problem?.code !== "replaced";
}
