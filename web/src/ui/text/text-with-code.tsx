/** A sentence in which what stands between backticks is code, as the service writes names of tags and parts of records. */
export function TextWithCode({ text }: { text: string }) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))
}
