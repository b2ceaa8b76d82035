import { Status, type Tone } from '../ui/feedback/status.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Ago } from '../ui/text/ago.tsx'
import type { OwnerLink } from './api.ts'
import { owners as messages } from './messages.ts'

const TONES: Record<OwnerLink['state'], Tone> = {
  waiting: 'info',
  signed_in: 'good',
  withdrawn: 'warn',
  expired: 'warn',
  blocked: 'warn',
}

/** What became of a link, and since when. */
export function OwnerLinkState({ link }: { link: OwnerLink }) {
  const { state, createdAt, signedInAt, withdrawnAt } = link
  return (
    <span>
      <Status tone={TONES[state]}>{messages.states[state]}</Status>{' '}
      <Muted>
        <Ago at={withdrawnAt ?? signedInAt ?? createdAt} />
      </Muted>
    </span>
  )
}
