// Asks the API. The browser keeps answers and asks whether they still hold (ETag).

export class Problem extends Error {
  constructor(status, { title, detail, retry_after_s: retryAfter, parameter }) {
    super(detail ?? title);
    Object.assign(this, { status, title, retryAfter, parameter });
  }
}

/** The answer to a question; a `Problem` where there is none. */
export async function ask(name, parameters, signal) {
  const query = new URLSearchParams(parameters).toString();
  let response;
  try {
    response = await fetch(`/api/v1/${name}${query && `?${query}`}`, { signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { title: "No answer", detail: "The server can’t be reached. Is it still running?" });
  }
  const body = await response.json().catch(() => ({ title: "No answer", detail: `The server answered ${response.status}.` }));
  if (!response.ok) throw new Problem(response.status, body);
  return body;
}

/**
 * Calls at each new version of the data, when more is known of other devices, and when the connection is lost or there again. Browsers have six connections to a server: a page that
 * isn't seen leaves them to those that are, and is told the version that there is by then when it is seen again.
 */
export function listen(onVersion, onDevices, onConnection) {
  let events = null;
  const follow = () => {
    if (document.hidden) {
      events?.close();
      events = null;
    } else if (!events) {
      events = new EventSource("/api/v1/events");
      events.addEventListener("version", (event) => onVersion(event.data));
      events.addEventListener("devices", onDevices);
      events.addEventListener("open", () => onConnection(true));
      events.addEventListener("error", () => onConnection(false));
    }
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}
