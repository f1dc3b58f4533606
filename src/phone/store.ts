/** Holds the state, applies events, and tells whoever draws it. */
import { INITIAL_STATE, type PhoneEvent, type PhoneState, reduce } from "./state.ts";

export interface Store {
  get(): PhoneState;
  dispatch(event: PhoneEvent): void;
}

export function createStore(onChange: (state: PhoneState) => void): Store {
  let state = INITIAL_STATE;
  return {
    get: () => state,
    dispatch: (event) => {
      const next = reduce(state, event);
      if (next === state) return;
      state = next;
      onChange(state);
    },
  };
}
