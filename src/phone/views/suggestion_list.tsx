/** The composer's suggestions while a slash command is written: a list for touch, keyboard and screen readers. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isAgentKind } from "../../protocol/names.ts";
import { SLASH_COMMANDS } from "../../protocol/slash_commands.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { isComposed } from "../terminal_input.ts";

const { suggestions: TEXT } = SESSION_TEXT;
const LIST_ID = "suggestions";
const optionId = (index: number): string => `suggestion-${index}`;

export interface Suggestions {
  options: readonly string[];
  /** The option that the arrow keys have reached; -1 for none. */
  active: number;
  /** The field's attributes that describe the list. */
  attributes: {
    "aria-autocomplete": "list";
    "aria-controls"?: string;
    "aria-activedescendant"?: string;
  };
  pick(option: string): void;
  /** True if the key was for the list. */
  onKey(event: KeyboardEvent): boolean;
}

interface Options {
  draft: string;
  /** The session's kind of agent. */
  agent: string;
  onPick(command: string): void;
}

/** The arrow keys choose, Enter takes what they chose, and Esc closes the list until the draft changes. */
export function useSuggestions({ draft, agent, onPick }: Options): Suggestions {
  const [closedFor, close] = useState<string>();
  const [moved, setMoved] = useState({ draft, to: -1 });
  const options = draft === closedFor ? [] : suggestedCommands(draft, agent);
  const active = moved.draft === draft ? moved.to : -1;
  const chosen = options[active];
  const pick = (option: string): void => {
    close(option);
    onPick(option);
  };
  const move = (step: 1 | -1): void => {
    const from = active === -1 && step === -1 ? 0 : active;
    setMoved({ draft, to: (from + step + options.length) % options.length });
  };
  const onKey = (event: KeyboardEvent): boolean => {
    if (options.length === 0 || isComposed(event)) return false;
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Escape") close(draft);
    else if (event.key === "Enter" && chosen !== undefined) pick(chosen);
    else return false;
    event.preventDefault();
    return true;
  };
  const attributes = {
    "aria-autocomplete": "list" as const,
    ...(options.length === 0 ? {} : { "aria-controls": LIST_ID }),
    ...(chosen === undefined ? {} : { "aria-activedescendant": optionId(active) }),
  };
  return { options, active, attributes, pick, onKey };
}

export function SuggestionList({ suggestions }: { suggestions: Suggestions }): JSX.Element {
  const { options, active, attributes, pick, onKey } = suggestions;
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: "nearest" }), [active]);
  const isOpen = options.length > 0;
  return (
    <>
      <p class="visually-hidden" role="status">{isOpen && TEXT.count(options.length)}</p>
      {isOpen && (
        <ul
          id={LIST_ID}
          class="suggestions"
          role="listbox"
          aria-label={TEXT.label}
          aria-activedescendant={attributes["aria-activedescendant"]}
          tabIndex={0}
          ref={list}
          onKeyDown={onKey}
        >
          {options.map((option, index) => (
            <li
              key={option}
              id={optionId(index)}
              role="option"
              aria-selected={index === active}
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => pick(option)}
            >
              {option}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The beginning of a command and nothing else: with another slash it is a path. */
const BEGUN = /^\/([^\s/]*)$/;

/**
 * Returns the commands to suggest for a draft, with their slash, those that begin like it first; none if the draft is
 * not the beginning of a command, or is all of one.
 */
export function suggestedCommands(draft: string, agent: string): string[] {
  const typed = BEGUN.exec(draft)?.[1]?.toLowerCase();
  if (typed === undefined || !isAgentKind(agent)) return [];
  const names = SLASH_COMMANDS[agent].filter((name) => name.includes(typed));
  if (names.length === 1 && names[0] === typed) return [];
  const first = names.filter((name) => name.startsWith(typed));
  return [...first, ...names.filter((name) => !first.includes(name))].map((name) => `/${name}`);
}
