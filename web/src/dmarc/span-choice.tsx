import { Choice } from '../ui/forms/choice.tsx'
import { SPANS, type Span } from './search.ts'

/** Over how many days is summed up. */
export function SpanChoice({ days, onChange }: { days: Span; onChange: (days: Span | undefined) => void }) {
  return (
    <Choice
      size="normal"
      label="How long back"
      choices={SPANS.map((span) => ({ value: String(span), name: `Last ${span} days` }))}
      value={String(days)}
      onChange={(value) => onChange(SPANS.find((span) => String(span) === value))}
    />
  )
}
