import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../queries.ts'
import { SearchForm } from '../ui/forms/search-form.tsx'
import { Button } from '../ui/actions/button.tsx'
import { Muted, Row, Stack } from '../ui/layout/page.tsx'
import { guessTarget } from './guess-target.ts'
import { check as messages } from './messages.ts'
import { useOpenTarget } from './open-target.ts'
import { recentChecks } from './recent-checks.ts'

type CheckFieldProps = {
  initial?: string
  autoFocus?: boolean
  /** Small, for the heading of a screen. */
  compact?: boolean
}

/** One field for anything that can be checked. Submitting it opens the page about the target. */
export function CheckField({ initial = '', autoFocus = false, compact = false }: CheckFieldProps) {
  const openTarget = useOpenTarget()

  function check(typed: string): string | null {
    const target = guessTarget(typed)
    if (!target) return messages.notATarget
    openTarget(target)
    return null
  }
  const form = (
    <SearchForm
      key={initial}
      name="q"
      label={messages.field}
      submit={messages.submit}
      placeholder={messages.fieldExample}
      defaultValue={initial}
      autoFocus={autoFocus}
      compact={compact}
      onAsk={check}
    />
  )
  if (compact) return form
  return (
    <Stack>
      {form}
      <RecentChecks />
    </Stack>
  )
}

function RecentChecks() {
  const openTarget = useOpenTarget()
  const { data: account } = useQuery(accountQuery)
  const targets = recentChecks(account?.id ?? '').flatMap((text) => {
    const target = guessTarget(text)
    return target ? [{ text, target }] : []
  })
  if (targets.length === 0) return null
  return (
    <Row>
      <Muted>{messages.recent}</Muted>
      {targets.map(({ text, target }) => (
        <Button key={text} size="small" kind="quiet" onClick={() => openTarget(target)}>
          {text}
        </Button>
      ))}
    </Row>
  )
}
