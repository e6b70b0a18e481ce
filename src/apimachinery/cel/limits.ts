// The limits that Kubernetes sets to expressions.

/** Most that one evaluation may cost (PerCallLimit). */
export const PER_CALL_LIMIT = 1_000_000;
/** Most that the rules of one object, or the expressions of one policy, may cost together (RuntimeCELCostBudget). */
export const RUNTIME_COST_BUDGET = 10_000_000;
/** Most that the match conditions of one webhook or policy may cost together (RuntimeCELCostBudgetMatchConditions). */
export const MATCH_CONDITIONS_COST_BUDGET = 2_500_000;
/** Largest request, in bytes: strings and lists without a bound are taken to be as long as it allows. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;
