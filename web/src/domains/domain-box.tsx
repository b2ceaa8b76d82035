import { useNavigate } from '@tanstack/react-router'
import { guessTarget } from '../check/guess-target.ts'
import { SearchForm } from '../ui/forms/search-form.tsx'
import { domainPages as messages } from './messages.ts'

type DomainBoxProps = {
  initial?: string
  autoFocus?: boolean
  /** Small, for the heading of a screen. */
  compact?: boolean
}

/** One input for a domain, a web address or an email address. Addresses open the check page. */
export function DomainBox({ initial = '', autoFocus = false, compact = false }: DomainBoxProps) {
  const navigate = useNavigate()

  function open(typed: string): string | null {
    const target = guessTarget(typed)
    if (!target) return messages.notADomain
    if (target.kind === 'address') void navigate({ to: '/check', search: { q: target.name } })
    else void navigate({ to: '/domains/$domain', params: { domain: target.name } })
    return null
  }
  return (
    <SearchForm
      key={initial}
      name="domain"
      label={messages.field}
      submit={messages.submit}
      placeholder={messages.fieldExample}
      defaultValue={initial}
      autoFocus={autoFocus}
      compact={compact}
      onAsk={open}
    />
  )
}
