/** Draws the form that asks for an API key. The text in the search box is kept. */

import { useEffect, useRef } from "preact/hooks";
import { usePage, useTitle } from "../frame/page-context.ts";

export function SignIn({ onKey }: { onKey: (key: string) => void }) {
  const { client, service } = usePage();
  const field = useRef<HTMLInputElement>(null);
  const wasRefused = client.hasKey();
  useTitle("Sign in");
  useEffect(() => field.current?.focus(), []);
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const key = field.current!.value.trim();
    if (key !== "") onKey(key);
  };
  return (
    <main id="main" class="notice">
      <h1>Sign in with an API key</h1>
      <form class="sign-in" onSubmit={onSubmit}>
        <label for="key">API key of {service}</label>
        <input
          ref={field}
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-invalid={wasRefused}
          aria-describedby="key-note"
        />
        <button type="submit">Sign in</button>
        {wasRefused && (
          <p class="error" role="alert">
            This key was not accepted. It may be mistyped, expired or revoked.
          </p>
        )}
        <p id="key-note" class="muted">
          The key stays in this tab until you close it or sign out. Whoever runs this server creates
          keys, on its machine with <code>quern keys create</code>.
        </p>
      </form>
    </main>
  );
}
