import type { Tone } from '../ui/feedback/status.tsx'
import type { Source, SourceDetail, Summary } from './api.ts'

export const READINESS_TONES: Record<Summary['readiness']['verdict'], Tone> = {
  'no-data': 'info',
  'too-early': 'info',
  'not-ready': 'warn',
  ready: 'good',
  enforced: 'good',
}

export const ADVICE_TONES: Record<SourceDetail['advice']['verdict'], Tone> = {
  'no-data': 'info',
  good: 'good',
  half: 'warn',
  forwarder: 'info',
  partly: 'warn',
  failing: 'bad',
}

export function sourceTone({ pass, fail }: Pick<Source, 'pass' | 'fail'>): Tone {
  return fail === 0 ? 'good' : pass === 0 ? 'bad' : 'warn'
}
