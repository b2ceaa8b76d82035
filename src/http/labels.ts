import { Type } from 'typebox'

/** Labels of one object. */
export const MAX_LABELS = 10

export const LabelName = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,29}$',
  maxLength: 30,
  description: 'Lower-case letters, digits, `.`, `_` and `-`.',
})

/** The labels of an object that alert rules and filters use. */
export const Labels = Type.Array(LabelName, {
  maxItems: MAX_LABELS,
  uniqueItems: true,
  description: 'Up to 10 labels, for alert rules and filters.',
})

export const LabelChanges = Type.Object(
  { labels: Labels },
  { title: 'LabelChanges', examples: [{ labels: ['production', 'customer-a'] }] },
)
