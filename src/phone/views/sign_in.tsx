/** The page of a phone that the relay does not know yet: a key, or a pairing under way. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { SignIn, SignInProblem } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { Mark } from "./icons.tsx";

const { signIn: WORDS } = STRINGS;

interface Props {
  signIn: SignIn;
  onKey(key: string): void;
}

export function SignInView({ signIn, onKey }: Props): JSX.Element {
  const busy = signIn.kind === "busy" ? signIn.how : undefined;
  return (
    <main class="sign-in">
      <div class="sign-in-head">
        <Mark />
        <h1>{WORDS.heading}</h1>
        <p class="lead">{WORDS.lead}</p>
      </div>
      {busy === "pair"
        ? <p class="busy" role="status">{WORDS.pairing}</p>
        : <KeyForm busy={busy !== undefined} signIn={signIn} onKey={onKey} />}
      <section class="help">
        <h2>{WORDS.noKeyHeading}</h2>
        <p>{WORDS.noKeyPair}</p>
        <code class="command">{WORDS.pairCommand}</code>
        <p>{WORDS.noKeyMake}</p>
        <code class="command">{WORDS.keyCommand}</code>
      </section>
    </main>
  );
}

function KeyForm({ busy, signIn, onKey }: Props & { busy: boolean }): JSX.Element {
  const [key, setKey] = useState("");
  const [shown, setShown] = useState(false);
  const problem = signIn.kind === "out" ? signIn.problem : undefined;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (key.trim() !== "" && !busy) onKey(key);
  };
  return (
    <form class="panel" onSubmit={submit}>
      <label for="key">{WORDS.keyLabel}</label>
      <div class="field">
        <input
          id="key"
          {...(shown ? { type: "text" } : { type: "password" })}
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          autocomplete="current-password"
          autocapitalize="none"
          spellcheck={false}
          aria-describedby="key-hint"
          aria-invalid={problem !== undefined}
          required
        />
        <button type="button" class="quiet" aria-pressed={shown} onClick={() => setShown(!shown)}>
          {shown ? WORDS.hide : WORDS.show}
        </button>
      </div>
      <p id="key-hint" class="hint">{WORDS.keyHint}</p>
      <div role="alert">{problem && <p class="problem">{problemWords(problem)}</p>}</div>
      <button type="submit" class="primary" disabled={busy || key.trim() === ""}>
        {busy ? WORDS.checking : WORDS.submit}
      </button>
    </form>
  );
}

function problemWords({ code, message }: SignInProblem): string {
  return WORDS.problems[code] ?? message;
}
