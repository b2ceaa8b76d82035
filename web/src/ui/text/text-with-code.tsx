/** Renders text in which parts between backticks are code, such as tags and record values. */
export function TextWithCode({ text }: { text: string }) {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))
}
