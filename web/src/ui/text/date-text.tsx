import { dateText, exactText } from './dates.ts'
import { Time } from './time.tsx'

/** A date in the reader's time zone. Hovering shows the exact time. */
export function DateText({ at }: { at: string }) {
  return <Time at={at}>{dateText(new Date(at))}</Time>
}

/** The exact time with seconds, in the reader's time zone. */
export function ExactTime({ at }: { at: string }) {
  return <Time at={at}>{exactText(new Date(at))}</Time>
}
