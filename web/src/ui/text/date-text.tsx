const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' })
const MINUTE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' })

/** A day, in the reader's time zone; the minute shows on pointing at it. */
export function DateText({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={MINUTE.format(date)}>
      {DAY.format(date)}
    </time>
  )
}
