/** Prints what a test has measured, if QUERN_FIGURES=1 is set: QUERN_FIGURES=1 npm test. */

const isWanted = process.env["QUERN_FIGURES"] === "1";

export function tellFigure(text: string): void {
  if (isWanted) console.log(text);
}
