/** A fingerprint in groups of four digits, which two people can compare. */
export function Fingerprint({ value }: { value: string }) {
  return <code>{(value.match(/.{4}/g) ?? []).join(' ')}</code>
}
