/** What a test has measured, for who wants to see it: QUERN_FIGURES=1 npm test. */

const isWanted = process.env["QUERN_FIGURES"] === "1";

export function tellFigure(text: string): void {
  if (isWanted) console.log(text);
}
