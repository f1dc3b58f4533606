/** The list of keyboard shortcuts, over whatever view is shown. */
import { type JSX, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { followShortcuts, readSingleKeys, writeSingleKeys } from "../shortcuts.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { Checkbox } from "./shared.tsx";

const { shortcuts: TEXT } = SESSION_TEXT;

/** With what a key does; several ways to press it. */
const LIST: readonly [keyof typeof TEXT.names, readonly (readonly string[])[]][] = [
  ["send", [[TEXT.control, TEXT.enter]]],
  ["write", [["i"]]],
  ["search", [["/"], [TEXT.control, "K"]]],
  ["switch", [["t"]]],
  ["back", [["Esc"]]],
  ["leaveLive", [[TEXT.shift, "Esc"]]],
  ["help", [["?"]]],
];

/** Listens to the keyboard from now on. */
export function startShortcuts(): void {
  const place = document.createElement("div");
  document.body.append(place);
  const close = (): void => render(null, place);
  followShortcuts(() => render(<ShortcutHelp onClose={close} />, place));
}

function ShortcutHelp({ onClose }: { onClose(): void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [singleKeys, setSingleKeys] = useState(readSingleKeys);
  useEffect(() => dialog.current?.showModal(), []);
  const toggle = (): void => {
    writeSingleKeys(!singleKeys);
    setSingleKeys(!singleKeys);
  };
  return (
    <dialog class="sheet" ref={dialog} aria-labelledby="shortcuts-heading" onClose={onClose}>
      <h2 id="shortcuts-heading">{TEXT.heading}</h2>
      <dl class="shortcuts">
        {LIST.map(([name, ways]) => (
          <div key={name}>
            <dt>{TEXT.names[name]}</dt>
            <dd>{ways.map((keys) => <Keys key={keys.join()} keys={keys} />)}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">{TEXT.live}</p>
      <Checkbox label={TEXT.singleKeys} checked={singleKeys} onToggle={toggle} />
      <button type="button" class="quiet" onClick={() => dialog.current?.close()}>{TEXT.close}</button>
    </dialog>
  );
}

function Keys({ keys }: { keys: readonly string[] }): JSX.Element {
  return <span class="shortcut-keys">{keys.map((key) => <kbd key={key}>{key}</kbd>)}</span>;
}
