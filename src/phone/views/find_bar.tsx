/** Finds text in the terminal's output, the newest match first. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { STRINGS } from "../strings.ts";
import { Icon, type IconName } from "./shared.tsx";
import type { Terminal } from "./use_terminal.ts";

const { terminal: TEXT } = STRINGS;

export function FindBar({ terminal, onClose }: { terminal: Terminal; onClose(): void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const [wanted, setWanted] = useState("");
  const [found, setFound] = useState<{ lines: number[]; at: number }>({ lines: [], at: 0 });
  useEffect(() => {
    field.current?.focus();
    terminal.loadEarlier();
    return () => terminal.showFound(undefined);
  }, []);
  const show = (lines: number[], at: number): void => {
    setFound({ lines, at });
    terminal.showFound(lines[at]);
  };
  const search = (text: string): void => {
    setWanted(text);
    const lines = terminal.find(text);
    show(lines, lines.length - 1);
  };
  /** Lines may have come since, so it searches again from the line that is marked. */
  const move = (step: 1 | -1): void => {
    const before = found.lines[found.at];
    const lines = terminal.find(wanted);
    const at = before === undefined ? lines.length - 1 : lines.indexOf(before) + step;
    show(lines, (at + lines.length) % Math.max(1, lines.length));
  };
  return (
    <search class="find-bar">
      <input
        ref={field}
        type="search"
        class="text-field"
        aria-label={TEXT.findLabel}
        placeholder={TEXT.find}
        autocapitalize="off"
        autocomplete="off"
        spellcheck={false}
        value={wanted}
        onInput={({ currentTarget }) => search(currentTarget.value)}
        onKeyDown={({ key, shiftKey }) => {
          if (key === "Enter") move(shiftKey ? 1 : -1);
          if (key === "Escape") onClose();
        }}
      />
      {wanted !== "" && <Count {...found} />}
      <FindButton name={TEXT.findPrevious} icon="up" onPress={() => move(-1)} />
      <FindButton name={TEXT.findNext} icon="down" onPress={() => move(1)} />
      <FindButton name={TEXT.close} icon="close" onPress={onClose} />
    </search>
  );
}

function Count({ lines, at }: { lines: readonly number[]; at: number }): JSX.Element {
  const text = TEXT.findCount(lines.length === 0 ? 0 : at + 1, lines.length);
  return <span class="find-count" role="status">{text}</span>;
}

function FindButton({ name, icon, onPress }: { name: string; icon: IconName; onPress(): void }): JSX.Element {
  return (
    <button type="button" aria-label={name} onClick={onPress}>
      <Icon name={icon} />
    </button>
  );
}
