/** Keeps the table of the cart in step with the server; without it the page still works. */
const cart = document.querySelector("#cart");
const rows = cart.querySelector("tbody");
const total = cart.querySelector("output[name=total]");

const money = new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" });

/** Half a second of quiet before we ask the server again. */
export function debounce(run, ms = 500) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...args), ms);
  };
}

async function refresh() {
  const response = await fetch(cart.dataset.endpoint);
  if (!response.ok) throw new Error(`cart: ${response.status}`);
  render(await response.json());
}

function render({ items, totalCents }) {
  rows.replaceChildren(...items.map(renderItem));
  total.value = money.format(totalCents / 100);
}

function renderItem({ sku, name, size, quantity, priceCents }) {
  const row = document.createElement("tr");
  row.dataset.sku = sku;
  for (const text of [name, size, quantity, money.format(priceCents / 100)]) {
    row.insertCell().textContent = text;
  }
  return row;
}

rows.addEventListener("input", debounce(refresh));
refresh().catch(console.error);
