const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' })
const MINUTE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' })

/** A date in the reader's time zone. Hovering shows the time. */
export function DateText({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={MINUTE.format(date)}>
      {DAY.format(date)}
    </time>
  )
}
