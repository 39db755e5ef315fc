// Building the page from text: there is no markup in what a server or a document says.

export const byId = (id) => document.getElementById(id);

/** Make an element; properties that are no properties of it become attributes. */
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else if (value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function say(text) {
  const place = byId("message");
  place.textContent = text;
  place.hidden = !text;
}

/** Do something a little after the last call. */
export function debounced(work, milliseconds) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), milliseconds);
  };
}

/**
 * Do one thing at a time; of what is asked meanwhile only the last is done. So however
 * fast somebody types, the server has one request of each kind to answer.
 */
export function newest(work) {
  let running = false;
  let next = null;
  return async function start(...given) {
    if (running) {
      next = given;
      return;
    }
    running = true;
    try {
      await work(...given);
    } catch (error) {
      say(error.message);
    } finally {
      running = false;
      if (next) {
        const again = next;
        next = null;
        start(...again);
      }
    }
  };
}

export const percent = (share) => `${(100 * share).toFixed(1)} %`;
