/** Signing in with a key, the result of a pairing, and the question before a link changes the account. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  type AccountSwap,
  outboxOf,
  type PairingResult,
  type PhoneState,
  type SignIn,
  type SignInProblem,
} from "../state.ts";
import { STRINGS } from "../strings.ts";
import { UPLOADS } from "../upload.ts";
import { type LinkActions, LinkReader } from "./link_reader.tsx";
import { LanguageSelect } from "./settings_parts.tsx";
import { Command, Mark, TextField } from "./shared.tsx";

const { signIn: SIGN_IN, pairing: PAIRING, swap: SWAP } = STRINGS;

interface Props {
  signIn: SignIn;
  onKey(key: string): void;
  actions: LinkActions;
}

export function SignInView({ signIn, onKey, actions }: Props): JSX.Element {
  const busy = signIn.kind === "busy" ? signIn.how : undefined;
  useEffect(() => UPLOADS.end(), []);
  return (
    <main class="sign-in">
      <div class="sign-in-head">
        <Mark />
        <h1>{SIGN_IN.heading}</h1>
        <p class="lead">{SIGN_IN.lead}</p>
      </div>
      {busy === "pair" ? <Pairing isAgain={signIn.kind === "busy" && signIn.isAgain === true} /> : (
        <>
          <Problem signIn={signIn} onTry={actions.tryLinkAgain} />
          <section class="panel">
            <h2>{SIGN_IN.pairHeading}</h2>
            <p class="hint">{SIGN_IN.pairLead}</p>
            <Command text={SIGN_IN.pairCommand} />
            <LinkReader actions={actions} />
          </section>
          <section class="panel">
            <h2>{SIGN_IN.keyHeading}</h2>
            <KeyForm busy={busy !== undefined} signIn={signIn} onKey={onKey} />
          </section>
        </>
      )}
      <section class="help">
        <h2>{SIGN_IN.noKeyHeading}</h2>
        <p>{SIGN_IN.noKeyMake}</p>
        <Command text={SIGN_IN.keyCommand} />
      </section>
      <footer>
        <label class="language">
          <span class="visually-hidden">{STRINGS.app.language}</span>
          <LanguageSelect />
        </label>
      </footer>
    </main>
  );
}

function Pairing({ isAgain }: { isAgain: boolean }): JSX.Element {
  return <p class="busy" role="status">{isAgain ? SIGN_IN.pairingAgain : SIGN_IN.pairing}</p>;
}

const KEY_PROBLEMS = ["unauthenticated", "missing_scope"];

/** Why the phone is signed out, or why signing in failed. The button that failed may be below it, on a small screen. */
function Problem({ signIn, onTry }: { signIn: SignIn; onTry(): void }): JSX.Element {
  const problem = signIn.kind === "out" ? signIn.problem : undefined;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => problem && place.current?.scrollIntoView({ block: "nearest" }), [problem]);
  return (
    <>
      <div role="alert" ref={place}>{problem && <p class="problem">{problemText(problem)}</p>}</div>
      {problem?.hasLink && (
        <button type="button" class="primary" onClick={onTry}>{STRINGS.question.tryAgain}</button>
      )}
    </>
  );
}

function KeyForm({ busy, signIn, onKey }: Omit<Props, "actions"> & { busy: boolean }): JSX.Element {
  const [key, setKey] = useState("");
  const [shown, setShown] = useState(false);
  const problem = signIn.kind === "out" ? signIn.problem : undefined;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (key.trim() !== "" && !busy) onKey(key);
  };
  return (
    <form class="panel" onSubmit={submit}>
      <TextField
        id="key"
        label={SIGN_IN.keyLabel}
        hint={SIGN_IN.keyHint}
        isSecret={!shown}
        isWrong={problem !== undefined && KEY_PROBLEMS.includes(problem.code)}
        value={key}
        onText={setKey}
        autocomplete="current-password"
        button={
          <button type="button" class="quiet" aria-pressed={shown} onClick={() => setShown(!shown)}>
            {shown ? SIGN_IN.hide : SIGN_IN.show}
          </button>
        }
      />
      <button type="submit" class="secondary" disabled={busy || key.trim() === ""}>
        {busy ? SIGN_IN.checking : SIGN_IN.submit}
      </button>
    </form>
  );
}

function problemText({ code, message, deviceId }: SignInProblem): string {
  return deviceId === undefined ? SIGN_IN.problems[code] ?? message : SIGN_IN.wordsDiffer(deviceId);
}

export interface PairingActions extends Pick<LinkActions, "tryLinkAgain"> {
  /** The words match, or the user has read why pairing failed. */
  confirmPairing(): void;
  wordsDiffer(): void;
}

export function PairingView(
  { result, actions }: { result: PairingResult; actions: PairingActions },
): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <main class="pairing">
      <h1 ref={heading} tabIndex={-1}>
        {result.kind === "words" ? PAIRING.heading(result.host) : PAIRING.failedHeading}
      </h1>
      {result.kind === "words"
        ? <Compare words={result.words} host={result.host} actions={actions} />
        : (
          <Failed
            problem={problemText(result)}
            onRead={actions.confirmPairing}
            onTry={result.hasLink ? actions.tryLinkAgain : undefined}
          />
        )}
    </main>
  );
}

function Compare(
  { words, host, actions }: { words: readonly string[]; host: string; actions: PairingActions },
): JSX.Element {
  return (
    <>
      <p class="lead">{PAIRING.compare(host)}</p>
      <ol class="phrase">{words.map((word, index) => <li key={index}>{word}</li>)}</ol>
      <div class="pairing-actions">
        <button type="button" class="primary" onClick={actions.confirmPairing}>{PAIRING.same}</button>
        <button type="button" class="secondary" onClick={actions.wordsDiffer}>{PAIRING.differ}</button>
      </div>
    </>
  );
}

interface FailedProps {
  problem: string;
  onRead(): void;
  /** Undefined if the link can no longer be used. */
  onTry: (() => void) | undefined;
}

function Failed({ problem, onRead, onTry }: FailedProps): JSX.Element {
  return (
    <>
      <p class="problem" role="alert">{problem}</p>
      <div class="pairing-actions">
        {onTry && <button type="button" class="primary" onClick={onTry}>{STRINGS.question.tryAgain}</button>}
        <button type="button" class={onTry ? "secondary" : "primary"} onClick={onRead}>
          {PAIRING.understood}
        </button>
      </div>
    </>
  );
}

export interface SwapActions {
  swapAccount(): void;
  keepAccount(): void;
}

export function SwapView(
  { swap: { from, to }, state, actions }: { swap: AccountSwap; state: PhoneState; actions: SwapActions },
): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const unsent = outboxOf(state).length;
  return (
    <main class="pairing">
      <h1 ref={heading} tabIndex={-1}>{SWAP.heading}</h1>
      <p class="lead">{SWAP.question}</p>
      <dl class="accounts">
        <dt>{SWAP.from}</dt>
        <dd>
          <code>{from}</code>
        </dd>
        <dt>{SWAP.to}</dt>
        <dd>
          <code>{to}</code>
        </dd>
      </dl>
      <p>{SWAP.lost(unsent)}</p>
      <div class="pairing-actions">
        <button type="button" class="primary" onClick={actions.keepAccount}>{SWAP.keep}</button>
        <button type="button" class="secondary" onClick={actions.swapAccount}>{SWAP.change}</button>
      </div>
    </main>
  );
}
