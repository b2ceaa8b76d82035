import { useNavigate } from '@tanstack/react-router'
import { SearchForm } from '../ui/forms/search-form.tsx'
import { check as messages } from './messages.ts'
import { guessTarget } from './guess-target.ts'

/** One input for every kind of target. Submitting it opens the page of the result. */
export function CheckBox({
  initial = '',
  autoFocus = false,
}: {
  initial?: string
  autoFocus?: boolean
}) {
  const navigate = useNavigate()

  function check(typed: string): string | null {
    const target = guessTarget(typed)
    if (!target) return messages.notATarget
    void navigate({ to: '/check', search: { q: target.name } })
    return null
  }
  return (
    <SearchForm
      key={initial}
      name="q"
      label={messages.field}
      submit={messages.submit}
      placeholder={messages.fieldExample}
      defaultValue={initial}
      autoFocus={autoFocus}
      onAsk={check}
    />
  )
}
