import type { QueryKey } from '@tanstack/react-query'
import { Button } from '../../ui/actions/button.tsx'
import { Row } from '../../ui/layout/page.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import type { Summary } from '../api.ts'
import { senders as messages } from '../messages.ts'
import { useMarks } from './use-marks.ts'

/** Senders to decide about in place; the table below has the others. */
const MAX_SHOWN = 3

type UndecidedProps = {
  id: string
  queryKey: QueryKey
  senders: Summary['readiness']['undecided']
}

/** “Mine” and “Not mine” for the senders that a verdict waits for. */
export function Undecided({ id, queryKey, senders }: UndecidedProps) {
  const access = useAccess()
  const { mark, problem } = useMarks(id, queryKey)
  return (
    <>
      {senders.slice(0, MAX_SHOWN).map((sender) => (
        <Row key={sender.id}>
          {senders.length > 1 && <span>{sender.name}</span>}
          {messages.answers.map(({ value, name }) => (
            <Button key={value} {...access} size="small" onClick={() => mark(sender, value)}>
              {name} <VisuallyHidden>{sender.name}</VisuallyHidden>
            </Button>
          ))}
        </Row>
      ))}
      {problem && <p role="alert">{problem}</p>}
    </>
  )
}
