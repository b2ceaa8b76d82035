import { shared } from './messages.ts'

/** A share as a percentage, rounded down, so that 99.97% does not read as 100%. */
export function shareText(part: number, all: number): string {
  if (all === 0) return '–'
  const share = Math.floor((part / all) * 1_000) / 10
  return shared.percentage(share === 100 || share === 0 ? String(share) : share.toFixed(1))
}
