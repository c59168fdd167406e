"""Writes the token ids that Transformers makes of chat requests, as references for `tokenweir check` (docs/check.md).

    python scripts/transformers-reference.py --model Qwen/Qwen3-0.6B fixtures/weather.json

writes fixtures/weather.golden.json. The model is a name on the Hub or a folder with the tokenizer's files; its own chat
template renders the messages. Needs `pip install transformers`, and nothing else of it than the tokenizer.
"""

import argparse
import hashlib
import json
import pathlib

import transformers

# What of a chat request reaches the template by a name of its own; all else is no matter of it.
TEMPLATE_FIELDS = ("tools", "documents", "continue_final_message", "add_generation_prompt", "reasoning_effort")


def messages_for_template(messages):
    """Arguments of tool calls are JSON in a text on the wire, and an object to templates, as Transformers documents."""
    for message in messages:
        for call in message.get("tool_calls") or []:
            arguments = call.get("function", {}).get("arguments")
            if isinstance(arguments, str):
                call["function"]["arguments"] = json.loads(arguments)
    return messages


def prompt_ids(tokenizer, request):
    fields = {name: request[name] for name in TEMPLATE_FIELDS if request.get(name) is not None}
    # An answer is wanted unless the request says otherwise; a message to go on with wants none.
    fields.setdefault("add_generation_prompt", not fields.get("continue_final_message", False))
    rendered = tokenizer.apply_chat_template(
        messages_for_template(request["messages"]),
        tokenize=True,
        return_dict=True,
        **fields,
        **(request.get("chat_template_kwargs") or {}),
    )
    return list(rendered["input_ids"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="a name on the Hub, or a folder with the tokenizer's files")
    parser.add_argument("requests", nargs="+", type=pathlib.Path, help="files with one chat request each")
    arguments = parser.parse_args()
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.model)
    for path in arguments.requests:
        body = path.read_bytes()
        reference = {
            "by": "transformers",
            "ids": prompt_ids(tokenizer, json.loads(body)),
            "request": "sha256:" + hashlib.sha256(body).hexdigest(),
            "writtenBy": f"transformers {transformers.__version__}",
            "model": pathlib.PurePath(arguments.model).name,
        }
        path.with_suffix(".golden.json").write_text(json.dumps(reference) + "\n")


if __name__ == "__main__":
    main()
