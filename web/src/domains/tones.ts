import type { Tone } from '../ui/feedback/status.tsx'
import type { LineState } from './api.ts'

export const LINE_TONES: Record<LineState, Tone> = {
  good: 'good',
  warning: 'warn',
  bad: 'bad',
  unknown: 'unknown',
}
