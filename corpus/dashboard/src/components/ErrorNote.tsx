import { ApiError } from "../api.ts";

export function ErrorNote({ error }: { error: Error }) {
  // 401 is the usual one: the session ended while the page stayed open over night
  const text =
    error instanceof ApiError && error.status === 401
      ? "You are signed out. Reload the page to sign in."
      : error.message;
  return (
    <p className="error" role="alert">
      {text}
    </p>
  );
}
