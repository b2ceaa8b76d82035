import { useQueryClient } from '@tanstack/react-query'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import type { Tone } from '../../ui/feedback/status.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import type { PostmasterAccess } from './api.ts'

type AccessState = NonNullable<PostmasterAccess['access']>['state']

export const ACCESS_TONES: Record<AccessState, Tone> = {
  active: 'good',
  failing: 'warn',
  ended: 'bad',
}

type RemoveAccessProps = {
  messages: { title: string; remove: string; removing: string; removingText: string }
  remove: () => Promise<unknown>
}

/** Ends the access to statistics of a provider, after a question. */
export function RemoveAccess({ messages, remove }: RemoveAccessProps) {
  const access = useAccess()
  const queries = useQueryClient()
  return (
    <div>
      <ConfirmButton
        {...access}
        label={messages.remove}
        about={messages.title}
        title={messages.removing}
        onConfirm={async () => {
          await remove()
          await queries.invalidateQueries({ queryKey: ['provider-statistics'] })
        }}
      >
        <p>{messages.removingText}</p>
      </ConfirmButton>
    </div>
  )
}
