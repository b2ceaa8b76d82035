import { MAX_HOPS } from './forwarding-marks.ts'

/** Why a request is not forwarded. */
export const UNSENDABLE = {
  incomplete: 'Rejected and aborted requests are not forwarded.',
  truncated: 'The body is truncated: it is larger than what is stored.',
  loop: 'This endpoint has forwarded the request before: one of its destinations leads back here.',
  hops: `The request has been forwarded ${MAX_HOPS} times already: its destinations form a loop.`,
}
export type Unsendable = keyof typeof UNSENDABLE
