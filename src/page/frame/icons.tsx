/**
 * Draws icons in the colour of the text around them. Screen readers skip icons, because a text or a label says what
 * an icon means.
 */

const PATHS = {
  repository: "M4 2h9v12H4a1.5 1.5 0 0 1 0-3h9M4 2a1.5 1.5 0 0 0-1.5 1.5v9",
  folder: "M1.5 3.5h5l1.5 2h6.5v7.5h-13z",
  file: "M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3",
  search: "M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2zM10.7 10.7 14.5 14.5",
  history: "M8 2a6 6 0 1 0 6 6M14 2v4h-4M8 5v3.5l2.5 1.5",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5 7.500 13a2.8 2.8 0 0 1-4-4L5 7.500",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  halves: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 2v12M9.500 3v10M11 4v8M12.500 5.500v5",
  sun: "M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.500 1.500M11.500 11.500 13 13M13 3l-1.500 1.500M4.500 11.500 3 13",
  moon: "M13 9.500A5.500 5.500 0 1 1 6.500 3a4.500 4.500 0 0 0 6.500 6.500z",
  plus: "M3 8h10M8 3v10",
  minus: "M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  outline: "M2 4h3M2 8h3M2 12h3M7 4h7M7 8h7M7 12h7",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
