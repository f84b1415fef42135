/**
 * Defines the CSS classes of tokens. code.shadow.css sets the colour of each class. Operators and punctuation, which
 * make up most tokens of a file, have no class, because each token with a class needs an element.
 */

import { tagHighlighter, tags } from "@lezer/highlight";

const { definition, variableName, propertyName } = tags;

export const tokenClasses = tagHighlighter([
  { tag: tags.keyword, class: "tok-keyword" },
  { tag: [tags.string, tags.regexp, tags.escape], class: "tok-string" },
  { tag: [tags.url, tags.link], class: "tok-string" },
  { tag: [tags.number, tags.bool, tags.atom, tags.literal], class: "tok-number" },
  { tag: [tags.comment, tags.meta], class: "tok-comment" },
  { tag: [tags.typeName, tags.className], class: "tok-type" },
  { tag: [tags.namespace, tags.labelName], class: "tok-type" },
  { tag: variableName, class: "tok-variable" },
  { tag: [definition(variableName), definition(propertyName)], class: "tok-name" },
  { tag: [propertyName, tags.macroName], class: "tok-name" },
  { tag: [tags.heading, tags.strong], class: "tok-strong" },
  { tag: tags.emphasis, class: "tok-emphasis" },
]);
