import { useNavigate } from '@tanstack/react-router'
import { SearchForm } from '../ui/forms/search-form.tsx'
import { guessTarget } from './target.ts'

const NOTHING = 'Type a domain such as example.com, or an IPv4 address such as 192.0.2.1.'

/** One input for everything that can be checked; it goes to the result's own address. */
export function CheckBox({ initial = '', autoFocus = false }: { initial?: string; autoFocus?: boolean }) {
  const navigate = useNavigate()

  function check(typed: string): string | null {
    const target = guessTarget(typed)
    if (!target) return NOTHING
    void navigate({ to: '/check', search: { q: target.name } })
    return null
  }
  return (
    <SearchForm
      key={initial}
      name="q"
      label="Domain or IPv4 address"
      submit="Check"
      placeholder="example.com or 192.0.2.1"
      defaultValue={initial}
      autoFocus={autoFocus}
      onAsk={check}
    />
  )
}
