/** Tells the user that the link is down, why, and what to do. It floats, so that nothing moves when it appears. */
import type { JSX } from "preact";
import { isLasting, LINK_PROBLEMS, type LinkProblem } from "../../client/link_problem.ts";
import type { LinkView } from "../state.ts";
import { STRINGS } from "../strings.ts";

const { link: TEXT } = STRINGS;

interface Props {
  link: LinkView;
  /** How many messages, answers and requests are still on this phone. */
  unsent: number;
  onTryNow(): void;
  onSignOut(): void;
}

export function LinkNotice(props: Props): JSX.Element {
  return (
    <div class="notice-place" role="status">
      {props.link.kind === "down" && <Notice {...props} />}
    </div>
  );
}

function Notice({ link, unsent, onTryNow, onSignOut }: Props): JSX.Element {
  const problem = link.kind === "down" ? link.problem : undefined;
  return (
    <div class="notice">
      {isStopped(link) || <span class="spinner" aria-hidden="true" />}
      <p>
        <strong>{linkText(link)}</strong>
        {problem && <span class="notice-why">{problemText(problem)}</span>}
        {unsent > 0 && <span class="notice-why">{TEXT.unsent(unsent)}</span>}
      </p>
      {isStopped(link)
        ? <button type="button" class="quiet" onClick={onSignOut}>{TEXT.signInAgain}</button>
        : <button type="button" class="quiet" onClick={onTryNow}>{TEXT.tryNow}</button>}
    </div>
  );
}

/** A reason that the relay gave itself stays as it is. */
function problemText({ code, message }: LinkProblem): string {
  return message === LINK_PROBLEMS[code] ? TEXT.problems[code] : message;
}

/** The small sign in the picker's header. */
export function LinkSign({ link }: { link: LinkView }): JSX.Element {
  return <span class="link-sign" data-link={link.kind}>{linkText(link)}</span>;
}

function linkText(link: LinkView): string {
  switch (link.kind) {
    case "live":
      return TEXT.live;
    case "connecting":
      return TEXT.connecting;
    case "down":
      return isStopped(link) ? TEXT.stopped : TEXT.down;
  }
}

/** Only signing in again helps. */
function isStopped(link: LinkView): boolean {
  return link.kind === "down" && isLasting(link.problem) && link.problem?.code !== "replaced";
}
