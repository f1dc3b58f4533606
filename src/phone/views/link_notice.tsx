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
  const lasting = isLasting(problem);
  return (
    <div class="notice">
      <span class="spinner" aria-hidden="true" />
      <p>
        <strong>{WORDS.down}</strong>
        {problem && <span class="notice-why">{problem.message}</span>}
      </p>
      {lasting && problem?.code !== "replaced"
        ? <button type="button" class="quiet" onClick={onSignOut}>{WORDS.signInAgain}</button>
        : <button type="button" class="quiet" onClick={onTryNow}>{WORDS.tryNow}</button>}
    </div>
  );
}

/** The small sign in the picker's head. */
export function LinkSign({ link }: { link: LinkView }): JSX.Element {
  const word = link.kind === "live" ? WORDS.live : link.kind === "connecting" ? WORDS.connecting : WORDS.down;
  return <span class="link-sign" data-link={link.kind}>{word}</span>;
}
